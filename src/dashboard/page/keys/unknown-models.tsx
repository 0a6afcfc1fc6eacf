import type { KeyView } from '../../../api/keys/key-view.ts';
import { modelNames } from '../../../domain/allowed-models.ts';
import { readModels } from '../api/account.ts';
import { useLoad } from '../api/use-load.ts';
import { knowsModels, session } from '../session/session.ts';
import { Badge } from '../ui/elements.tsx';
import { isOwnKey } from './key-label.tsx';

/** A badge for a key that lists models which do not exist: with a misspelt name it can call nothing. */
export function UnknownModels({ of, catalog }: { of: KeyView; catalog: ReadonlySet<string> | undefined }) {
  const unknown =
    catalog === undefined
      ? []
      : of.allowed_models.filter((name) => ![...catalog].some(modelNames([name]).has));
  if (unknown.length === 0) return null;
  const [first] = unknown;
  return (
    <Badge kind="warning" title={`Not in the catalog: ${unknown.join(', ')}`}>
      {unknown.length === 1
        ? `“${first}” is not in the catalog`
        : `${unknown.length} models not in the catalog`}
    </Badge>
  );
}

/**
 * Names of all models of the catalog; undefined while they are not known. The gateway shows a key only the models that
 * it may use, so a session whose key is limited never knows all of them, nor does the operator's.
 */
export function useCatalog(keys: readonly KeyView[]): ReadonlySet<string> | undefined {
  const isHidden = session.value?.role === 'operator' || !knowsModels();
  const catalog = useLoad(async (signal) => (isHidden ? undefined : await readModels(signal)));
  const own = keys.find(isOwnKey);
  const isLimited = own !== undefined && own.allowed_models.length + own.allowed_categories.length > 0;
  return isLimited || !catalog.data ? undefined : new Set(catalog.data.map(({ id }) => id));
}
