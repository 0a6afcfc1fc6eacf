import { useState } from 'react';
import type { KeyView } from '../../../api/keys/key-view.ts';
import { ApiFailure } from '../api/api-failure.ts';
import { switchKey } from '../api/keys.ts';
import { count } from '../format/credits.ts';
import { announce } from '../ui/announcements.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { isOwnKey } from './key-label.tsx';

/** Names that the question lists. */
const NAMED = 5;

/** Keys that can be selected: active ones, but not the session's, whose page asks about the sign-out. */
export function isSelectable(key: KeyView): boolean {
  return key.is_active && !isOwnKey(key);
}

/** Number of selected keys, with a button that deactivates them after a question. */
export function DeactivateMany(props: {
  keys: readonly KeyView[];
  onClear: () => void;
  /** Called when some keys may have another state. */
  onChanged: () => void;
}) {
  const { keys, onClear, onChanged } = props;
  const [isAsking, setAsking] = useState(false);
  const words = count(keys.length) + (keys.length === 1 ? ' key' : ' keys');
  const act = async () => {
    const changed: string[] = [];
    try {
      for (const key of keys) {
        await switchKey('/api/keys/', key, false).catch((error: unknown) => {
          if (!(error instanceof ApiFailure) || error.code !== 'version_conflict') throw error;
          changed.push(`“${key.name}”`);
        });
      }
    } finally {
      onChanged();
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
      <button type="button" className="danger-quiet" onClick={() => setAsking(true)}>
        Deactivate
      </button>
      <button type="button" className="link" onClick={onClear}>
        Clear
      </button>
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
            {keys.length === 1
              ? 'Calls with this key are refused at every gateway. You can reactivate it later.'
              : 'Calls with these keys are refused at every gateway. You can reactivate each one later.'}
          </p>
        </Confirm>
      )}
    </div>
  );
}
