import { createRoot } from 'react-dom/client';
import { entry } from './session/secret.ts';

// Browsers resolve a relative address against the page that is shown, which changes.
for (const link of document.querySelectorAll<HTMLLinkElement>('link[href]'))
  link.setAttribute('href', link.href);

// People who sign in need neither the router nor the styles of the other pages.
const { default: Content } = await (entry === undefined ? app() : import('./session/entries.tsx'));
const place = document.getElementById('page');
if (place) createRoot(place).render(<Content />);

async function app() {
  const [loaded] = await Promise.all([import('./app.tsx'), enableSheet()]);
  return loaded;
}

/** Loads the sheet of the pages, which waits in the document. Resolves without it if it cannot be loaded. */
function enableSheet(): Promise<void> {
  const sheet = document.getElementById('pages-style') as HTMLLinkElement | null;
  return new Promise((resolve) => {
    if (sheet === null) return resolve();
    sheet.onload = () => resolve();
    sheet.onerror = () => resolve();
    sheet.disabled = false;
  });
}
