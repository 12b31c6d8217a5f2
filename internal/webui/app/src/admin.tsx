import { Office } from './Office';
import { start } from './ui/start';

void start('office', <Office />);
