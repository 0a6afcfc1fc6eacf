import { useState } from 'preact/hooks';
import type { KeyView } from '../../../domain/key-view.ts';
import { changeKey, listKeys } from '../api/keys.ts';
import { useAction } from '../api/use-action.ts';
import { useLoad } from '../api/use-load.ts';
import { manages } from '../session/session.ts';
import { announce } from '../ui/announcements.tsx';
import { Empty } from '../ui/empty.tsx';
import { PageFrame } from '../ui/page.tsx';
import { Shown } from '../ui/shown.tsx';
import { Time } from '../ui/time.tsx';
import { draftOf } from './key-draft.ts';
import { KeyForm } from './key-form.tsx';
import { KeyStatus } from './key-status.tsx';
import { changesOf, readDraft } from './read-draft.ts';
import { ReadOnlyNote } from './read-only-note.tsx';
import { SwitchKey } from './switch-key.tsx';

/** One key: all its settings, and whether it is in use. */
export function EditKey({ id }: { id: number }) {
  const loaded = useLoad(async (signal) => {
    const keys = await listKeys(signal);
    return { key: keys.find((key) => key.id === id) };
  });
  const { key } = loaded.data ?? {};
  const isManaging = manages();
  const replace = (changed: KeyView) => loaded.replace({ key: changed });
  return (
    <PageFrame
      title={key?.name ?? 'Key'}
      {...(isManaging ? { back: { href: '#/keys', name: 'Keys' } } : {})}
      actions={
        key &&
        isManaging && (
          <>
            <a class="button" href={`#/explain/${id}`}>
              Explain a call
            </a>
            <SwitchKey of={key} onChanged={replace} />
          </>
        )
      }
    >
      <Shown of={loaded}>
        {() =>
          key === undefined ? (
            <Empty title="There is no such key">
              <p>
                No key of your account has the number {id}. <a href="#/keys">All keys</a>
              </p>
            </Empty>
          ) : (
            <>
              <p class="key-line">
                <KeyStatus of={key} /> <code>{key.prefix}…</code>{' '}
                <span>
                  created <Time at={key.created_at} />
                </span>
              </p>
              {!isManaging && <ReadOnlyNote />}
              <Settings of={key} onChanged={replace} readOnly={!isManaging} />
            </>
          )
        }
      </Shown>
    </PageFrame>
  );
}

function Settings({
  of: key,
  onChanged,
  readOnly,
}: {
  of: KeyView;
  onChanged: (key: KeyView) => void;
  readOnly: boolean;
}) {
  const [draft, setDraft] = useState(() => draftOf(key));
  const read = readDraft(draft);
  const changes = changesOf(draft, key, read);
  const save = useAction(async () => {
    const changed = await changeKey(key.id, changes);
    onChanged(changed);
    // As it is kept: normalised, and with what the gateway decided itself.
    setDraft(draftOf(changed));
    announce(`The key “${changed.name}” is saved.`);
  });
  return (
    <KeyForm
      known={key}
      draft={draft}
      onDraft={setDraft}
      faults={read.errors}
      save={save}
      verb="Save changes"
      isUnchanged={Object.keys(changes).length === 0 && Object.keys(read.errors).length === 0}
      readOnly={readOnly}
    />
  );
}
