import { lazy, Suspense, useEffect, useState } from 'react';
import { Icon } from '../ui/icon.tsx';
import type { Me } from './me.ts';
import type { Scope } from './scope.ts';

const load = () => import('./finder.tsx');
const Finder = lazy(load);

/** Button of the finder, which ⌘K and Ctrl+K open too. It is loaded ahead, so that no letter typed after them is lost. */
export function FinderButton({ me, scope }: { me: Me; scope: Scope | undefined }) {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    // Loaded again when it is opened, if this fails.
    load().catch(() => {});
    const listen = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      setOpen(true);
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, []);
  return (
    <>
      <button type="button" className="side-button side-search" onClick={() => setOpen(true)}>
        <Icon name="search" />
        Search
        <kbd>{/Mac|iP/.test(navigator.platform) ? '⌘K' : 'Ctrl K'}</kbd>
      </button>
      <Suspense fallback={null}>
        {isOpen && <Finder me={me} scope={scope} onClose={() => setOpen(false)} />}
      </Suspense>
    </>
  );
}
