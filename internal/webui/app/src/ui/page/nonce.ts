/** The nonce of this page's Content-Security-Policy; empty under `npm run dev`. */
export const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';

// Ant Design gives its nonce to most style elements it makes, not to all: the scroll lock forgets.
if (nonce !== '') {
  const create = document.createElement.bind(document);
  document.createElement = ((name: string, options?: ElementCreationOptions) => {
    const element = create(name, options);
    if (name.toLowerCase() === 'style') element.nonce = nonce;
    return element;
  }) as typeof document.createElement;
}
