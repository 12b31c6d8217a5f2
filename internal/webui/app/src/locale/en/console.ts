import alerts from './alerts';
import applications from './applications';
import budgets from './budgets';
import calls from './calls';
import common from './common';
import overview from './overview';
import session from './session';

export default { alerts, applications, budgets, calls, common, overview, session };
