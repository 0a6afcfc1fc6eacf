import { numberIn, type PageProps } from '../page-props.ts';
import { Explain } from './explain.tsx';

export default function ExplainPage({ id }: PageProps) {
  return <Explain keyId={numberIn(id)} />;
}
