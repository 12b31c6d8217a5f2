import { Office } from './Office';
import { start } from './ui/page/start';

void start('office', <Office />);
