import { createContext, use } from 'react';
import { Link, type LinkProps } from 'react-router';

/** Whether what is inside holds a history entry of its own, as the call drawer does. */
export const OwnEntry = createContext(false);

/** A link to another page; from a drawer it takes the place of the drawer's entry, so that one Back returns. */
export function PageLink(props: LinkProps) {
  return <Link replace={use(OwnEntry)} {...props} />;
}
