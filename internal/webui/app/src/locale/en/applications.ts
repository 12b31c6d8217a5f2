import type { Same } from '../same';
import type zh from '../zh/applications';

const applications: Same<typeof zh> = {};

export default applications;
