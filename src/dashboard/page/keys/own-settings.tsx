import { useEffect } from 'react';
import { readOwnKey } from '../api/keys.ts';
import { useLoad } from '../api/use-load.ts';
import { goInstead } from '../route.ts';
import { PageFrame } from '../ui/page.tsx';
import { Shown } from '../ui/shown.tsx';

/** Goes to the settings of the key of the session. */
export function OwnSettings() {
  const loaded = useLoad(readOwnKey);
  const id = loaded.data?.id;
  useEffect(() => {
    if (id !== undefined) goInstead(`/keys/${id}`);
  }, [id]);
  return (
    <PageFrame title="Settings">
      <Shown of={loaded}>{() => null}</Shown>
    </PageFrame>
  );
}
