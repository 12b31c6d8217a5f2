/** What stands beside the pointer: a title, and names with values. */
export function tip(title: string, rows: readonly (readonly [string, string])[]): HTMLElement {
  const box = document.createElement('div');
  box.append(Object.assign(document.createElement('strong'), { textContent: title }));
  const list = Object.assign(document.createElement('dl'), { className: 'tip' });
  for (const [name, value] of rows)
    list.append(
      Object.assign(document.createElement('dt'), { textContent: name }),
      Object.assign(document.createElement('dd'), { textContent: value }),
    );
  box.append(list);
  return box;
}
