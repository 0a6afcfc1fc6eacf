import { numberIn, type PageProps } from '../page-props.ts';
import { EditKey } from './edit-key.tsx';
import { Keys } from './keys.tsx';
import { NewKey } from './new-key.tsx';
import { OwnSettings } from './own-settings.tsx';

export default function KeysPage({ role, id }: PageProps) {
  const number = numberIn(id);
  if (number !== undefined) return <EditKey id={number} />;
  if (role === 'key') return <OwnSettings />;
  return id === 'new' ? <NewKey /> : <Keys />;
}
