import admin from './admin';
import capabilities from './capabilities';
import pages from './console';
import explore from './explore';
import figures from './figures';
import management from './management';

export default { ...pages, admin, capabilities, explore, figures, management };
