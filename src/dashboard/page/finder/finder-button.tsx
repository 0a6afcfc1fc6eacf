import { IconSearch } from '@tabler/icons-react';
import { lazy, Suspense, useEffect, useState } from 'react';

const Finder = lazy(() => import('./finder.tsx'));

/** Button of the search, which ⌘K and Ctrl+K open too. The search is loaded when it is first asked for. */
export function FinderButton() {
  /** Number of times that it was asked for. */
  const [asked, setAsked] = useState(0);
  useEffect(() => {
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
        <IconSearch size={18} stroke={1.75} aria-hidden="true" />
        Search
        <kbd>⌘K</kbd>
      </button>
      <Suspense fallback={null}>{asked > 0 && <Finder key={asked} />}</Suspense>
    </>
  );
}
