/** Whether the character at that index follows an odd number of backslashes, none of them before `from`. */
export function isEscaped(text: string, at: number, from: number): boolean {
  let slashes = 0;
  while (at - 1 - slashes >= from && text.charCodeAt(at - 1 - slashes) === 0x5c) slashes++;
  return slashes % 2 === 1;
}
