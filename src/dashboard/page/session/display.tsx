import { ActionIcon, useMantineColorScheme } from '@mantine/core';
import { zoneName } from '../format/time.ts';
import { useZone } from '../format/zone.ts';
import { useChoices } from '../ui/choices.ts';
import { Icon } from '../ui/icon.tsx';

const SCHEMES = [
  ['light', 'Light theme'],
  ['dark', 'Dark theme'],
  ['auto', 'Theme of the system'],
] as const;

/** Choice of the colour scheme. */
export function ThemeChoice() {
  // Mantine turns transitions off by a style element, which the content security policy refuses.
  const { colorScheme, setColorScheme } = useMantineColorScheme({ keepTransitions: true });
  return (
    <fieldset className="theme" aria-label="Theme">
      {SCHEMES.map(([scheme, name]) => (
        <ActionIcon
          key={scheme}
          size="sm"
          variant={scheme === colorScheme ? 'light' : 'subtle'}
          color={scheme === colorScheme ? 'blue' : 'gray'}
          aria-label={name}
          aria-pressed={scheme === colorScheme}
          onClick={() => setColorScheme(scheme)}
        >
          <Icon name={scheme} />
        </ActionIcon>
      ))}
    </fieldset>
  );
}

/** Button that shows times in the other zone. */
export function ZoneChoice() {
  const isUtc = useZone() === 'utc';
  const { choose } = useChoices();
  return (
    <button
      type="button"
      className="side-button"
      // The router sets the zone, unless unsaved work keeps the page. An absent value would be kept as it was.
      onClick={() => choose({ times: isUtc ? 'local' : 'utc' }, 'replace')}
    >
      <Icon name="clock" />
      {isUtc ? 'Show local time' : 'Show UTC'}
      <small aria-hidden="true">{isUtc ? 'UTC' : zoneName().split('/').at(-1)?.replaceAll('_', ' ')}</small>
    </button>
  );
}
