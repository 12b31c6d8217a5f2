import generatePicker from 'antd/es/date-picker/generatePicker';
import dayjsConfig from '@rc-component/picker/es/generate/dayjs';
import dayjs, { type Dayjs } from 'dayjs';
import 'dayjs/locale/zh-cn';
import { today } from './days';

const MONDAY = 1;

/** Ant Design's picker, whose "now" is Beijing's and not the browser's, and whose weeks begin on Monday in every language. */
export const DatePicker = generatePicker<Dayjs>({
  ...dayjsConfig,
  getNow: () => dayjs(today()),
  locale: { ...dayjsConfig.locale, getWeekFirstDay: () => MONDAY },
});

export const toDay = (date: Dayjs): string => date.format('YYYY-MM-DD');
export const fromDay = (day: string): Dayjs => dayjs(day);
