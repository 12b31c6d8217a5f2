import type { Schemas } from '../api/client';
import { BudgetsBlock } from '../budgets/BudgetsBlock';
import { LimitsBlock } from '../limits/LimitsBlock';

/** How much an application may do, and what that may cost. */
export default function LimitsTab({ application }: { application: Schemas['Application'] }) {
  return (
    <>
      <LimitsBlock application={application} />
      <BudgetsBlock application={application} />
    </>
  );
}
