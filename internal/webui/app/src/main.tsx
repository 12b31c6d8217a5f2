import { App } from './App';
import { start } from './ui/start';

void start('console', <App />);
