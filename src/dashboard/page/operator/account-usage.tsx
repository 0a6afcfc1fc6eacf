import type { Base } from '../api/account.ts';
import { Spend } from '../overview/spend.tsx';
import { useSpend } from '../overview/use-spend.ts';
import { Shown } from '../ui/shown.tsx';

export function AccountUsage({ base }: { base: Base }) {
  const spend = useSpend(base);
  return <Shown of={spend}>{(reports) => <Spend {...reports} of={base} />}</Shown>;
}
