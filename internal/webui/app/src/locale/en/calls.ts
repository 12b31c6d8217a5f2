import type { Same } from '../same';
import type zh from '../zh/calls';

const calls: Same<typeof zh> = {};

export default calls;
