/** An address that rather breaks before its @ than within a word. */
export function Email({ of }: { of: string }) {
  const at = of.lastIndexOf('@');
  return at < 0 ? (
    of
  ) : (
    <>
      {of.slice(0, at)}
      <wbr />
      {of.slice(at)}
    </>
  );
}
