import { signal } from '@preact/signals';

/** Where in the page we are: the parts of `#/keys/12`. */
export const route = signal(parts());

addEventListener('hashchange', () => {
  route.value = parts();
});

export function goTo(path: string): void {
  location.hash = path;
}

function parts(): readonly string[] {
  return location.hash.replace(/^#\/?/, '').split('/').filter(Boolean);
}
