import { numberIn, type PageProps } from '../pages.tsx';
import { Explain } from './explain.tsx';

export default function ExplainPage({ id }: PageProps) {
  return <Explain keyId={numberIn(id)} />;
}
