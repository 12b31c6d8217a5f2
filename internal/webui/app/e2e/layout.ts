/** A page of whichever browser and driver, for functions that take nothing. */
export interface Evaluating {
  evaluate<T>(within: () => T | Promise<T>): Promise<T>;
}

/**
 * What is wrong with how the page is laid out at its present width, in words; nothing when all is well:
 * the page, a dialog or a block runs sideways, a text overlaps another or sticks out of its box, a figure is broken
 * over lines, a field cuts its figure or what it says while it is empty.
 */
export async function layoutFaults(page: Evaluating): Promise<string[]> {
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  return page.evaluate(() => {
    interface Piece {
      text: string;
      owner: Element;
      layer: Element;
      left: number;
      right: number;
      top: number;
      bottom: number;
    }
    const faults: string[] = [];
    const say = (what: string) => faults.length < 12 && !faults.includes(what) && faults.push(what);
    const named = (element: Element) =>
      `<${element.tagName.toLowerCase()}${element.className && typeof element.className === 'string' ? ` class="${element.className}"` : ''}>`;

    const root = document.documentElement;
    if (root.scrollWidth > root.clientWidth) say(`the page runs ${root.scrollWidth - root.clientWidth} px sideways`);
    // Source text and the table of days may be scrolled; what cuts its text does not scroll.
    for (const element of document.querySelectorAll('body *')) {
      const over = element.scrollWidth - element.clientWidth;
      if (
        over > 1 &&
        /auto|scroll/.test(getComputedStyle(element).overflowX) &&
        !element.matches('pre, textarea, .chart-days') &&
        element.clientWidth > 0
      )
        say(`${named(element)} scrolls ${over} px sideways`);
    }

    for (const figure of document.querySelectorAll('.tile strong')) {
      const range = document.createRange();
      range.selectNodeContents(figure);
      const [first, ...more] = range.getClientRects();
      if (first && more.some(({ top }) => top >= first.bottom)) say(`the figure “${figure.textContent}” is broken over lines`);
    }

    const ruler = document.createElement('canvas').getContext('2d')!;
    for (const input of document.querySelectorAll('input')) {
      const style = getComputedStyle(input);
      const words = input.value === '' ? input.placeholder : input.type === 'number' ? input.value : '';
      const arrows = input.type === 'number' && input.value !== '' ? 16 : 0; // at its end, where the pointer is
      ruler.font = style.font;
      // Not clientWidth, which leaves the padding of a field out in Firefox.
      const { width } = input.getBoundingClientRect();
      const edges = [style.paddingLeft, style.paddingRight, style.borderLeftWidth, style.borderRightWidth];
      const room = edges.reduce((left, edge) => left - parseFloat(edge), width);
      if (width > 0 && ruler.measureText(words).width + arrows > room + 1) say(`“${words}” is cut in its field`);
    }

    const layerOf = (element: Element): Element => {
      for (let at: Element | null = element; at; at = at.parentElement) {
        const { position, zIndex } = getComputedStyle(at);
        if (position === 'fixed' || position === 'sticky' || (position === 'absolute' && zIndex !== 'auto')) return at;
      }
      return document.body;
    };
    const pieces: Piece[] = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const owner = node.parentElement!;
      const text = node.textContent!.trim();
      if (
        text === '' ||
        owner.closest('.unseen, option, textarea, script, style, noscript, [hidden]') ||
        getComputedStyle(owner).visibility === 'hidden'
      )
        continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      if (/^[\d.,]+$/.test(text) && owner.closest('td')) {
        const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
        if (lines.size > 1) say(`the figure “${text}” is broken over lines`);
      }
      let hidden = false;
      for (let at: Element | null = owner; at; at = at.parentElement) hidden ||= getComputedStyle(at).clipPath !== 'none';
      for (const rect of hidden ? [] : range.getClientRects()) {
        let { left, right, top, bottom } = rect;
        for (let at: Element | null = owner; at && at !== document.body; at = at.parentElement) {
          const { overflowX, overflowY, display } = getComputedStyle(at);
          if (display === 'inline' || (overflowX === 'visible' && overflowY === 'visible')) continue;
          const clip = at.getBoundingClientRect();
          [left, right, top, bottom] = [
            Math.max(left, clip.left),
            Math.min(right, clip.right),
            Math.max(top, clip.top),
            Math.min(bottom, clip.bottom),
          ];
        }
        if (right - left < 2 || bottom - top < 2) continue;
        const lean = (bottom - top) * 0.25; // the box of a line is higher than its letters
        pieces.push({
          text: text.slice(0, 40),
          owner,
          layer: layerOf(owner),
          left: left + 1,
          right: right - 1,
          top: top + lean,
          bottom: bottom - lean,
        });
      }
    }
    pieces.forEach((one, n) => {
      for (const other of pieces.slice(n + 1)) {
        if (one.owner === other.owner || one.layer !== other.layer) continue;
        if (one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom)
          say(`“${one.text}” overlaps “${other.text}”`);
      }
      for (const within of ['td, th', '.tile, .tag, button, .quiet', '.block, [role=dialog]']) {
        const box = one.owner.closest(within);
        const place = box?.getBoundingClientRect();
        if (box && place && box.contains(one.owner) && (one.right > place.right + 1 || one.left < place.left - 1))
          say(`“${one.text}” sticks out of ${named(box)}`);
      }
    });
    return faults;
  });
}

/** What a phone's bar of tabs covers once the page is at its end, and what an opened part shows below it. */
export async function coveredByTabs(page: Evaluating): Promise<string[]> {
  return page.evaluate(() => {
    const tabs = document.querySelector('.tabs');
    if (!tabs || getComputedStyle(tabs).display === 'none') return [];
    window.scrollTo(0, document.documentElement.scrollHeight);
    const bar = tabs.getBoundingClientRect();
    const open = [...document.querySelectorAll('.ant-picker-dropdown:not(.ant-picker-dropdown-hidden), .menu')];
    const covered = (element: Element) => {
      element.scrollIntoView({ block: 'nearest' });
      const { left, right, top, bottom } = element.getBoundingClientRect();
      const at = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
      return at === null || !(element.contains(at) || at.contains(element));
    };
    const hidden = open
      .flatMap((part) => [...part.querySelectorAll('button, td')])
      .filter((one) => one.getClientRects().length > 0 && getComputedStyle(one).visibility !== 'hidden')
      .filter(covered);
    const last = [...document.querySelectorAll('.main a, .main button, .main p, .main td, .main dd')].filter(
      (one) =>
        one.getClientRects().length > 0 &&
        !one.closest('.menu') &&
        one.getBoundingClientRect().bottom > bar.top + 1 &&
        !one.closest('.save-bar'),
    );
    window.scrollTo(0, 0);
    return [...hidden, ...last].slice(0, 8).map((one) => `${one.tagName} “${(one.textContent ?? '').slice(0, 30)}” is covered`);
  });
}

/** The faults that stay: for a frame or two after a change of width a table or an open calendar is as wide as before. */
export async function lasting(look: () => Promise<string[]>): Promise<string[]> {
  let faults = await look();
  for (let tries = 0; faults.length > 0 && tries < 5; tries++) {
    await new Promise((later) => setTimeout(later, 200));
    faults = await look();
  }
  return faults;
}
