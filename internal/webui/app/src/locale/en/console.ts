import alerts from './alerts';
import applications from './applications';
import budgets from './budgets';
import calls from './calls';
import capabilities from './capabilities';
import common from './common';
import explore from './explore';
import management from './management';
import overview from './overview';
import playground from './playground';
import session from './session';

export default { alerts, applications, budgets, calls, capabilities, common, explore, management, overview, playground, session };
