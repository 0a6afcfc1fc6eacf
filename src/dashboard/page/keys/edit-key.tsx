import { useRef } from 'react';
import type { KeyView } from '../../../api/keys/key-view.ts';
import { OWN } from '../api/account.ts';
import { readRefusals } from '../api/key-usage.ts';
import { listKeys } from '../api/keys.ts';
import { useLoad } from '../api/use-load.ts';
import { manages, may } from '../session/session.ts';
import { Empty, Time } from '../ui/elements.tsx';
import { PageFrame } from '../ui/page.tsx';
import { Shown } from '../ui/shown.tsx';
import { KeyStatus } from './key-label.tsx';
import { KeyPicture } from './key-picture.tsx';
import { KeySettings } from './key-settings.tsx';
import { LastUse } from './last-used.tsx';
import { PreviousValue } from './previous-value.tsx';
import { ReadOnlyNote, ReadOnlySettings } from './read-only-settings.tsx';
import { RotateKey } from './rotate-key.tsx';
import { SwitchKey } from './switch-key.tsx';

/** Page of one key: what it does, all its settings, and the switch that deactivates it. */
export function EditKey({ id }: { id: number }) {
  const loaded = useLoad(async (signal) => {
    const keys = await listKeys(signal);
    return { key: keys.find((key) => key.id === id) };
  });
  const { key } = loaded.data ?? {};
  const isManaging = manages();
  const settings = useRef<HTMLHeadingElement>(null);
  const refusals = useLoad(async (signal) => (isManaging ? readRefusals(OWN, signal) : undefined));
  const replace = (changed: KeyView) => loaded.replace({ key: changed });
  return (
    <PageFrame
      title={key?.name ?? 'Key'}
      {...(isManaging ? { back: { href: '#/keys', name: 'Keys' } } : {})}
      actions={
        key &&
        isManaging && (
          <>
            {may('change keys') && (
              <button type="button" onClick={() => showSettings(settings.current)}>
                Settings
              </button>
            )}
            <a className="button" href={`#/explain/${id}`}>
              Explain a call
            </a>
            {may('change keys') && (
              <>
                <RotateKey
                  of={key}
                  onRotated={({ prefix, previous_valid_until }) => {
                    replace({ ...key, prefix, previous_valid_until });
                    loaded.reload();
                  }}
                />
                <SwitchKey of={key} onChanged={replace} />
              </>
            )}
          </>
        )
      }
    >
      <Shown of={loaded}>
        {() =>
          key === undefined ? (
            <NoSuchKey id={id} isManaging={isManaging} />
          ) : (
            <>
              <p className="key-line">
                <KeyStatus of={key} /> <code>{key.prefix}…</code>{' '}
                <span>
                  created <Time at={key.created_at} />
                </span>{' '}
                <LastUse of={key} refused={refusals.data?.get(id) ?? 0} />
              </p>
              <PreviousValue
                of={key}
                path={may('change keys') ? '/api/keys/' : undefined}
                onEnded={(ended) => (ended ? replace(ended) : loaded.reload())}
              />
              {isManaging && <KeyPicture of={key} />}
              {may('change keys') ? (
                <>
                  <h2 className="settings-title" ref={settings} tabIndex={-1}>
                    Settings
                  </h2>
                  <KeySettings of={key} onChanged={replace} />
                </>
              ) : (
                <>
                  {!isManaging && <ReadOnlyNote />}
                  <ReadOnlySettings of={key} />
                </>
              )}
            </>
          )
        }
      </Shown>
    </PageFrame>
  );
}

/** Goes to the settings below the picture of the key. */
function showSettings(heading: HTMLElement | null): void {
  heading?.focus({ preventScroll: true });
  heading?.scrollIntoView();
}

function NoSuchKey({ id, isManaging }: { id: number; isManaging: boolean }) {
  return isManaging ? (
    <Empty title="Key not found">
      <p>
        Your account has no key {id}. <a href="#/keys">All keys</a>
      </p>
    </Empty>
  ) : (
    <Empty title="Key not found">
      <p>
        The key you signed in with can't see key {id}, only itself. <a href="#/keys">Its settings</a>
      </p>
    </Empty>
  );
}
