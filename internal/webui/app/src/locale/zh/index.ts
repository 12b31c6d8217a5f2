import admin from './admin';
import capabilities from './capabilities';
import pages from './console';
import explore from './explore';
import figures from './figures';
import management from './management';
import playground from './playground';
import preview from './preview';

export default { ...pages, admin, capabilities, explore, figures, management, playground, preview };
