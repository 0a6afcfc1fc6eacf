import { type MouseEvent, useEffect } from 'react';
import { choose, query, route } from '../route.ts';
import { whilePageGrows } from '../scroll-place.ts';
import { makesOwnKeys } from '../session/session.ts';
import { SECTIONS, type SectionTitle, sectionId } from './setting-group.tsx';

/** Section that the address named when the tab was opened or reloaded, until the form has shown it. */
let opened = query.value.get('section');

/**
 * Links to the sections of the form. The address has the section as a choice of the page, because its hash is the
 * route; unsaved changes stay.
 */
export function SectionList() {
  useEffect(() => {
    const named = SECTIONS.find((title) => sectionId(title) === opened);
    opened = null;
    if (named === undefined) return undefined;
    // What is above the section may still be loading.
    const end = whilePageGrows(() => goToSection(named));
    return () => end.abort();
  }, []);
  const go = (event: MouseEvent, title: SectionTitle) => {
    // The browser opens another tab or window.
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    choose({ section: sectionId(title) }, 'replace');
    goToSection(title);
  };
  return (
    <nav className="section-list" aria-label="Sections">
      <ul>
        {SECTIONS.filter((title) => title !== 'Webhook' || !makesOwnKeys()).map((title) => (
          <li key={title}>
            <a
              href={`#/${route.value.join('/')}?section=${sectionId(title)}`}
              onClick={(event) => go(event, title)}
            >
              {title}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** Shows a section from its top. The focus goes to its heading, so that Tab leads to its first field. */
function goToSection(title: SectionTitle): void {
  const heading = document.getElementById(sectionId(title));
  heading?.focus({ preventScroll: true });
  heading?.closest('section')?.scrollIntoView();
}
