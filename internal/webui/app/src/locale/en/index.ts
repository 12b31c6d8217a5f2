import admin from './admin';
import pages from './console';
import explore from './explore';
import figures from './figures';
import management from './management';
import preview from './preview';

export default { ...pages, admin, explore, figures, management, preview };
