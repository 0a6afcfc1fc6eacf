import { OWN } from '../api/account.ts';
import type { PageProps } from '../page-props.ts';
import { PageFrame } from '../ui/page.tsx';
import { AccountModels } from './account-models.tsx';
import { OperatorModels } from './operator-models.tsx';

export default function ModelsPage({ role }: PageProps) {
  return (
    <PageFrame title="Models">
      {role === 'operator' ? <OperatorModels /> : <AccountModels of={OWN} />}
    </PageFrame>
  );
}
