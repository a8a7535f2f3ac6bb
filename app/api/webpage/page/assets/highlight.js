// Shows which sentence of one side belongs to which of the other: for the sentence
// under the pointer, or else for that with the caret or the focus. The text area
// cannot mark a part of its text, so a mirror with the same text lies below it.

/** Keys that move between sentences; sideways ones as the text runs. */
const STEPS = { ArrowDown: 1, ArrowUp: -1, ArrowRight: 1, ArrowLeft: -1 };

export class Highlight {
  #view;
  #blocks;
  #hovered = null;
  #focused = null;
  #marked = [];
  #stop = null; // the sentence that Tab reaches

  /** view has the elements: source, mirror and output. */
  constructor(view, blocks) {
    this.#view = view;
    this.#blocks = blocks;
    const { source, output } = view;

    let frame = 0;
    source.addEventListener('pointermove', ({ clientX, clientY, pointerType }) => {
      if (pointerType === 'touch') return;
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => this.#hover(this.#below(clientX, clientY)));
    });
    source.addEventListener('pointerleave', () => {
      cancelAnimationFrame(frame);
      this.#hover(null);
    });
    output.addEventListener('pointerover', ({ target, pointerType }) => {
      if (pointerType !== 'touch') this.#hover(blocks.segmentOf(target));
    });
    output.addEventListener('pointerleave', () => this.#hover(null));

    document.addEventListener('selectionchange', () => this.#followFocus());
    for (const type of ['focusin', 'focusout', 'keyup', 'click']) {
      source.addEventListener(type, () => this.#followFocus());
    }
    output.addEventListener('focusin', ({ target }) => {
      this.#setStop(target);
      this.#followFocus();
    });
    output.addEventListener('focusout', () => this.#followFocus());
    output.addEventListener('keydown', (event) => this.#move(event));
  }

  /** Looks again, after the text or its translation has changed. */
  refresh() {
    const { source, output } = this.#hovered ?? {};
    if (!source?.isConnected && !output?.isConnected) this.#hovered = null;
    if (!this.#stop?.isConnected) this.#setStop(this.#view.output.querySelector('.segment'));
    this.#followFocus();
  }

  /** The segment of the mirror at a point that the text area covers. */
  #below(x, y) {
    const { mirror } = this.#view;
    return this.#blocks.segmentOf(document.elementsFromPoint(x, y).find((element) => mirror.contains(element)));
  }

  #hover(segment) {
    this.#hovered = segment;
    this.#mark();
  }

  #followFocus() {
    const { source, output } = this.#view;
    const active = document.activeElement;
    if (active === source) this.#focused = this.#blocks.segmentAt(source.selectionStart);
    else this.#focused = output.contains(active) ? this.#blocks.segmentOf(active) : null;
    this.#mark();
  }

  #mark() {
    const { source, output } = this.#hovered ?? this.#focused ?? {};
    const marked = [source, output].filter(Boolean);
    for (const span of this.#marked) if (!marked.includes(span)) span.classList.remove('active');
    for (const span of marked) span.classList.add('active');
    this.#marked = marked;
  }

  /** Lets Tab reach one sentence only; arrow keys reach the others. */
  #setStop(span) {
    if (span && !span.classList.contains('segment')) return;
    if (this.#stop) this.#stop.tabIndex = -1;
    this.#stop = span;
    if (span) span.tabIndex = 0;
  }

  #move(event) {
    const { output } = this.#view;
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const spans = [...output.querySelectorAll('.segment')];
    const at = spans.indexOf(document.activeElement);
    if (at < 0) return;
    const sideways = event.key === 'ArrowLeft' || event.key === 'ArrowRight';
    const step = (STEPS[event.key] ?? 0) * (sideways && output.dir === 'rtl' ? -1 : 1);
    const target = { Home: spans[0], End: spans.at(-1) }[event.key] ?? (step && spans[at + step]);
    if (!target) return;
    event.preventDefault();
    target.focus();
  }
}
