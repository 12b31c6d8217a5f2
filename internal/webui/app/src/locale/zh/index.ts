import admin from './admin';
import pages from './console';
import figures from './figures';

export default { ...pages, admin, figures };
