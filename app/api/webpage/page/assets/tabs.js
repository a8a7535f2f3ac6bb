// Tabs: which panel is shown. They are those of the ARIA Authoring Practices, with automatic activation.

import { session } from './storage.js';

export class Tabs {
  #tabs;
  #panels;
  #list;

  /** list has a tab for each of the panels, in their order. The first panel is shown. */
  constructor({ list, panels }) {
    this.#list = list;
    this.#tabs = [...list.querySelectorAll('[role=tab]')];
    this.#panels = panels;
    this.#tabs.forEach((tab, i) => tab.addEventListener('click', () => this.show(i)));
    list.addEventListener('keydown', (event) => this.#move(event));
  }

  /** Shows the tabs, and the panel that this browser tab has shown before. */
  offer() {
    this.#list.hidden = false;
    for (const [i, panel] of this.#panels.entries()) {
      panel.setAttribute('role', 'tabpanel');
      panel.setAttribute('aria-labelledby', this.#tabs[i].id);
    }
    const before = this.#tabs.findIndex(({ id }) => id === session.get('tab'));
    if (before > 0) this.show(before);
  }

  /** Shows a panel, by its number. */
  show(shown) {
    this.#tabs.forEach((tab, i) => {
      tab.setAttribute('aria-selected', String(i === shown));
      tab.tabIndex = i === shown ? 0 : -1;
      this.#panels[i].hidden = i !== shown;
    });
    session.set('tab', this.#tabs[shown].id);
  }

  #move(event) {
    const at = this.#tabs.indexOf(event.target);
    const last = this.#tabs.length - 1;
    const to = { ArrowRight: at === last ? 0 : at + 1, ArrowLeft: at === 0 ? last : at - 1, Home: 0, End: last }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    this.show(to);
    this.#tabs[to].focus();
  }
}
