import { App } from './App';
import { start } from './ui/page/start';

void start('console', <App />);
