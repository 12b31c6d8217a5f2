import type { Same } from '../same';
import type zh from '../zh/playground';

const playground: Same<typeof zh> = {};

export default playground;
