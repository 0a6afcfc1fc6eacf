import { type ReactNode, useEffect, useRef } from 'react';
import { Mark } from '../ui/mark.tsx';

/** Frame of a page without a session: one card with a title. The first field has the focus once it is there. */
export function EntryFrame(props: {
  title: string;
  words?: ReactNode;
  /** Focuses the first field again where it changes. */
  focusOn?: unknown;
  children: ReactNode;
}) {
  const card = useRef<HTMLDivElement>(null);
  useEffect(() => {
    document.title = `${props.title} · Tollgate`;
  }, [props.title]);
  useEffect(() => {
    card.current?.querySelector<HTMLElement>('input')?.focus();
  }, [props.focusOn]);
  return (
    <main className="sign-in">
      <div ref={card} className="card">
        <p className="brand">
          <Mark /> Tollgate
        </p>
        <h1>{props.title}</h1>
        {props.words && <p className="sign-in-words">{props.words}</p>}
        {props.children}
      </div>
    </main>
  );
}
