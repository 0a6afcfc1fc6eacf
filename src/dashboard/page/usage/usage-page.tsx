import { OWN } from '../api/account.ts';
import { Spend } from '../home/spend.tsx';
import { useSpend } from '../home/use-spend.ts';
import { Usage } from '../operator/usage.tsx';
import type { PageProps } from '../page-props.ts';
import { PageFrame } from '../ui/page.tsx';
import { Shown } from '../ui/shown.tsx';

export default function UsagePage({ role }: PageProps) {
  return role === 'operator' ? <Usage /> : <OwnUsage />;
}

function OwnUsage() {
  const spend = useSpend(OWN);
  return (
    <PageFrame title="Usage">
      <Shown of={spend}>{(reports) => <Spend {...reports} of={OWN} />}</Shown>
    </PageFrame>
  );
}
