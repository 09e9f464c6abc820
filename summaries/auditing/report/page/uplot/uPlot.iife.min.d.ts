// The types of uPlot, from its package: only our checks read this. tests/javascript/package.json has the same release.

import uPlotClass from "uplot";

export const uPlot: typeof uPlotClass;
