import admin from './admin';
import pages from './console';

export default { ...pages, admin };
