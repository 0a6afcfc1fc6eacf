import { OWN } from '../api/account.ts';
import { Usage } from '../operator/usage.tsx';
import type { PageProps } from '../page-props.ts';
import { manages } from '../session/session.ts';
import { PageFrame } from '../ui/page.tsx';
import { AccountUsage } from './account-usage.tsx';

export default function UsagePage({ role }: PageProps) {
  if (role === 'operator') return <Usage />;
  return (
    <PageFrame title="Usage">
      <AccountUsage of={OWN} groups={manages() ? ['model', 'key'] : ['model']} />
    </PageFrame>
  );
}
