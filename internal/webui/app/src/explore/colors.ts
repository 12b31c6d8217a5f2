import { palettes } from '../ui/page/theme';

/** Told apart on either ground, by those who see red and green alike too. */
const GROUPS = {
  light: ['#3B74E0', '#B8570B', '#0B7A5E', '#8A3FB0', '#C4372A', '#4F6B1D', '#0E7A9B', '#A23A6B', '#6A5ACD', '#7A6210'],
  dark: ['#6EA1F7', '#E29A4C', '#4FC3A1', '#C68BE6', '#F0776C', '#A9C466', '#5BC0DE', '#E88AB5', '#A79BF0', '#D2B84B'],
} as const;

/** A colour for each of some groups; the last is of all others. */
export const colorsOf = (dark: boolean, n: number): string[] => {
  const of = dark ? 'dark' : 'light';
  return Array.from({ length: n }, (_, at) => GROUPS[of][at] ?? palettes[of].previous);
};
