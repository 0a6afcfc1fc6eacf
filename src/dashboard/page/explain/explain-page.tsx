import { OWN } from '../api/account.ts';
import { numberIn, type PageProps } from '../page-props.ts';
import { PageFrame } from '../ui/page.tsx';
import { Explain } from './explain.tsx';

export default function ExplainPage({ id }: PageProps) {
  return (
    <PageFrame title="Explain a call">
      <Explain of={OWN} keyId={numberIn(id)} />
    </PageFrame>
  );
}
