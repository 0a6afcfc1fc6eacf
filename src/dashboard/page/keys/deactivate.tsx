import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { KeyView } from '../../../api/keys/key-view.ts';
import { ApiFailure } from '../data/api-failure.ts';
import { useChange } from '../data/query.ts';
import { count } from '../format/credits.ts';
import { useLeave } from '../session/end.ts';
import { useScope } from '../session/scope.ts';
import { announce } from '../ui/announce.tsx';
import { Confirm, Dialog } from '../ui/confirm.tsx';
import { Failure, Note } from '../ui/note.tsx';
import { Table } from '../ui/table.tsx';
import { isOwnKey, keyApi, useKeyApi, useOnSeen } from './key-api.ts';
import { changesBetween } from './key-words.ts';

/** Part of a dialog that shows how a key was changed after the page was loaded. `done` is what was not done: "rotated". */
export function ChangedMeanwhile({ before, now, done }: { before: KeyView; now: KeyView; done: string }) {
  const frame = useRef<HTMLDivElement>(null);
  // Each time that it was changed again, too.
  useEffect(() => frame.current?.querySelector<HTMLElement>('[role="alert"]')?.focus(), [now]);
  return (
    <div ref={frame}>
      <Note kind="danger">
        <p>
          It was changed in another session or tab after you loaded this page. You have not {done} it yet.
        </p>
      </Note>
      <Table
        label="What differs"
        columns={[
          { id: 'setting', title: 'Setting', cell: ({ label }) => label },
          { id: 'before', title: 'Before', cell: ({ before }) => before },
          { id: 'now', title: 'Now', cell: ({ now }) => now },
        ]}
        rows={changesBetween(before, now)}
        rowKey={({ label }) => label}
      />
    </div>
  );
}

/** Dialog that asks before a key is deactivated, or activated again, and once more if it was changed meanwhile. */
export function SwitchDialog({ of: key, onClose }: { of: KeyView; onClose: () => void }) {
  const scope = useScope();
  const leave = useLeave();
  const api = useKeyApi(key.id);
  const { seen, before, act } = useOnSeen(key, api);
  // As the dialog was opened for: the page may show the new state before the dialog is closed.
  const [isActive] = useState(!key.is_active);
  const isOwn = isOwnKey(scope, key);
  const isLocked = key.restrictions_locked && scope.reach('change keys') === 'own';
  const verb = isActive ? 'Reactivate' : 'Deactivate';
  const change = useChange(async () => {
    const send = async (of: KeyView) => {
      // Whose restrictions are locked can be deleted by its person, which deactivates it.
      if (isLocked) await api.remove(of);
      else await api.patch({ is_active: isActive }, of);
      return true;
    };
    if (!(await act(send))) return;
    onClose();
    announce(`Key “${key.name}” ${verb.toLowerCase()}d.`);
    if (isOwn && !isActive) leave('You deactivated the key you were signed in with.');
  });
  return (
    <Dialog title={before ? 'This key was changed' : `${verb} “${key.name}”?`} onCancel={onClose}>
      <div className="fields">
        {before && <ChangedMeanwhile before={before} now={seen} done={`${verb.toLowerCase()}d`} />}
        {isActive ? (
          <p>Anyone who has its value can make calls with it again, with its current settings.</p>
        ) : (
          <p>
            Calls with this key are refused at every gateway.{' '}
            {isLocked ? 'Only an owner or admin can reactivate it.' : 'You can reactivate it later.'}
          </p>
        )}
        {isOwn && !isActive && (
          <p>
            <strong>You are signed in with this key</strong>: you will be signed out, and need another key
            that manages to reactivate it.
          </p>
        )}
        <Failure error={change.error} />
      </div>
      <div className="dialog-actions">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button
          color={!isActive || before ? 'red' : 'blue'}
          loading={change.isPending}
          onClick={() => change.mutate()}
        >
          {before ? `${verb} anyway` : verb}
        </Button>
      </div>
    </Dialog>
  );
}

/** Names that the question lists. */
const NAMED = 5;

/** Number of selected keys, with a button that deactivates them after a question. */
export function DeactivateMany({ keys, onClear }: { keys: readonly KeyView[]; onClear: () => void }) {
  const scope = useScope();
  const client = useQueryClient();
  const [isAsking, setAsking] = useState(false);
  const words = `${count(keys.length)} ${keys.length === 1 ? 'key' : 'keys'}`;
  const act = async () => {
    const changed: string[] = [];
    try {
      for (const key of keys) {
        await keyApi(scope, key.id)
          .patch({ is_active: false }, key)
          .catch((error: unknown) => {
            if (!(error instanceof ApiFailure) || error.code !== 'version_conflict') throw error;
            changed.push(`“${key.name}”`);
          });
      }
    } finally {
      void client.invalidateQueries();
    }
    if (changed.length > 0) {
      const text = `Changed meanwhile and still active: ${changed.join(', ')}. Look at them first.`;
      throw new ApiFailure(412, 'version_conflict', text);
    }
    announce(`${words} deactivated.`);
    onClear();
  };
  return (
    <div className="selection">
      <p role="status">{words} selected</p>
      <Button size="xs" color="red" onClick={() => setAsking(true)}>
        Deactivate
      </Button>
      <Button size="xs" variant="default" onClick={onClear}>
        Clear
      </Button>
      {isAsking && (
        <Confirm
          title={`Deactivate ${words}?`}
          verb="Deactivate"
          danger
          act={act}
          onClose={() => setAsking(false)}
        >
          <p>
            {keys
              .slice(0, NAMED)
              .map(({ name }) => name)
              .join(', ')}
            {keys.length > NAMED && ` and ${count(keys.length - NAMED)} more`}
          </p>
          <p>
            Calls with {keys.length === 1 ? 'this key' : 'these keys'} are refused at every gateway. You can
            reactivate {keys.length === 1 ? 'it' : 'each one'} later.
          </p>
        </Confirm>
      )}
    </div>
  );
}
