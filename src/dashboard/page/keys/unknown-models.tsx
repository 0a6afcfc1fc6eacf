import type { KeyView } from '../../../api/views/key-view.ts';
import { Badge } from '../ui/badge.tsx';

/** A mark for a key that lists models that there are not: a slip in a name lets it call nothing. */
export function UnknownModels({ of, catalog }: { of: KeyView; catalog: ReadonlySet<string> | undefined }) {
  const unknown = catalog === undefined ? [] : of.allowed_models.filter((slug) => !catalog.has(slug));
  if (unknown.length === 0) return null;
  const [first] = unknown;
  return (
    <span class="sub">
      <Badge kind="warning">
        {unknown.length === 1
          ? `“${first}” is not in the catalog`
          : `${unknown.length} models not in the catalog`}
      </Badge>
    </span>
  );
}
