import type { PageProps } from '../page-props.ts';
import { PageFrame } from '../ui/page.tsx';
import { OperatorModels } from './operator-models.tsx';
import { OwnModels } from './own-models.tsx';

export default function ModelsPage({ role }: PageProps) {
  return <PageFrame title="Models">{role === 'operator' ? <OperatorModels /> : <OwnModels />}</PageFrame>;
}
