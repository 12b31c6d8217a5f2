import type { Same } from '../same';
import type zh from '../zh/capabilities';

const capabilities: Same<typeof zh> = {};

export default capabilities;
