import { KeyOverview } from '../keys/key-overview.tsx';
import { OperatorHome } from '../operator/operator-home.tsx';
import type { PageProps } from '../page-props.ts';
import { Home } from './home.tsx';
import { MemberHome } from './member-home.tsx';

export default function HomePage({ role }: PageProps) {
  if (role === 'operator') return <OperatorHome />;
  if (role === 'member') return <MemberHome />;
  return role === 'key' ? <KeyOverview /> : <Home />;
}
