// Before the tests: the pages' scripts are modules, which nothing beside them says, and uPlot's file is none.

import { register } from "node:module";

register("./hooks.js", import.meta.url);
