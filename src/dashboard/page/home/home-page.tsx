import { KeyOverview } from '../keys/key-overview.tsx';
import type { PageProps } from '../page-props.ts';
import { Home } from './home.tsx';

export default function HomePage({ role }: PageProps) {
  return role === 'key' ? <KeyOverview /> : <Home />;
}
