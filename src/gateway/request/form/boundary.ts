import { invalidJson } from '../../../domain/errors.ts';

const PARAMETER = /;[ \t]*([A-Za-z]+)=(?:"([^"\\]*)"|([^\s;"]+))[ \t]*/gy;
/** Characters and length of a boundary (RFC 2046 §5.1.1), without the space, which some servers trim. */
const BOUNDARY = /^[0-9A-Za-z'()+_,\-./:=?]{1,70}$/;

/**
 * Boundary named by a Content-Type of `multipart/form-data`. Only its plain forms are accepted (RFC 2046): where a
 * header could be read in two ways, the gateway and the upstream might cut the same bytes differently. Throws 400
 * `invalid_json`.
 */
export function boundaryOf(contentType: string | undefined): string {
  const [type = ''] = (contentType ?? '').split(';', 1);
  if (type.trim().toLowerCase() !== 'multipart/form-data') {
    throw invalidJson('Send the body as multipart/form-data.');
  }
  const parameters = (contentType ?? '').slice(type.length);
  let boundary: string | undefined;
  let end = 0;
  for (const [whole, name, quoted, plain] of parameters.matchAll(PARAMETER)) {
    end += whole.length;
    if (name?.toLowerCase() === 'charset') continue;
    if (name?.toLowerCase() !== 'boundary' || boundary !== undefined) throw unreadable();
    boundary = quoted ?? plain;
  }
  if (end !== parameters.length || boundary === undefined || !BOUNDARY.test(boundary)) throw unreadable();
  return boundary;
}

function unreadable() {
  return invalidJson('The Content-Type must be multipart/form-data with only a boundary parameter.');
}
