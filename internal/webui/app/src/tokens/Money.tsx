import { Fragment } from 'react';
import { money, type Cost } from './tokens';

/** Amounts of one thing in each currency; `—` where no price is known. */
export function Money({ cost }: { cost: readonly Cost[] }) {
  const known = cost.filter(({ amount }) => amount !== null);
  if (known.length === 0) return <>—</>;
  return (
    <>
      {known.map((one, n) => (
        <Fragment key={one.currency}>
          {n > 0 && ' + '}
          <span className="money" title={`${one.currency} ${one.amount}`}>
            {money(one)}
          </span>
        </Fragment>
      ))}
    </>
  );
}
