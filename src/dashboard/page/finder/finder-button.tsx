import { SearchIcon } from '@primer/octicons-react';
import { lazy, Suspense, useEffect, useState } from 'react';

const load = () => import('./finder.tsx');
const Finder = lazy(load);

/** Button of the search, which ⌘K and Ctrl+K open too. It is loaded ahead, so that no letter typed after them is lost. */
export function FinderButton() {
  /** Number of times that it was asked for. */
  const [asked, setAsked] = useState(0);
  useEffect(() => {
    // Loaded again when it is asked for, if this fails.
    load().catch(() => {});
    const listen = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      setAsked((before) => before + 1);
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, []);
  return (
    <>
      <button type="button" className="side-button side-search" onClick={() => setAsked(asked + 1)}>
        <SearchIcon />
        Search
        <kbd>{/Mac|iP/.test(navigator.platform) ? '⌘K' : 'Ctrl K'}</kbd>
      </button>
      <Suspense fallback={null}>{asked > 0 && <Finder key={asked} />}</Suspense>
    </>
  );
}
