(function () {
  "use strict";
  var root = document.documentElement;
  root.classList.add("has-js");

  // Theme: follows the system until the button is used.
  var theme = document.getElementById("theme");
  if (theme) {
    theme.hidden = false;
    try { var saved = localStorage.getItem("ib-theme"); if (saved) root.dataset.theme = saved; } catch (e) { /* no storage for local files */ }
    theme.addEventListener("click", function () {
      var dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
      root.dataset.theme = dark ? "light" : "dark";
      try { localStorage.setItem("ib-theme", root.dataset.theme); } catch (e) { /* same */ }
    });
  }

  // Quality items: show all, wrong or unscored ones.
  document.querySelectorAll(".filter").forEach(function (bar) {
    bar.addEventListener("click", function (ev) {
      var b = ev.target.closest("button");
      if (!b) return;
      bar.querySelectorAll("button").forEach(function (o) { o.setAttribute("aria-pressed", String(o === b)); });
      document.querySelectorAll(".item").forEach(function (it) { it.hidden = b.dataset.show !== "all" && !it.classList.contains(b.dataset.show); });
    });
  });

  // A link to evidence opens the table that holds it.
  function reveal() {
    var t = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (var d = t && t.closest("details"); d; d = d.parentElement && d.parentElement.closest("details")) d.open = true;
    if (t) t.scrollIntoView({ block: "center" });
  }
  addEventListener("hashchange", function () { var t = location.hash && document.querySelector("tr" + CSS.escape(location.hash).replace(/^\\#/, "#")); if (t) reveal(); });

  // Charts.
  var charts = [], tip = document.createElement("div");
  tip.id = "tip"; tip.hidden = true; tip.setAttribute("role", "status");
  document.body.appendChild(tip);

  function digits(v) {
    var a = Math.abs(v);
    if (a >= 1000) return Math.round(v).toString().replace(/\B(?=(\d{3})+$)/g, v >= 10000 ? "\u202f" : "");
    return String(Number(v.toPrecision(3)));
  }
  function clock(s) {
    if (Math.abs(s) < 60) return digits(s) + "\u202fs";
    var t = Math.round(s), p = function (n) { return (n < 10 ? "0" : "") + n; };
    return t < 3600 ? Math.floor(t / 60) + ":" + p(t % 60) : Math.floor(t / 3600) + ":" + p(Math.floor(t / 60) % 60) + ":" + p(t % 60);
  }
  function unitOf(v, unit) {
    if (unit === "ms") return v >= 1000 ? digits(v / 1000) + "\u202fs" : v < 1 && v > 0 ? digits(v * 1000) + "\u202fµs" : digits(v) + "\u202fms";
    return digits(v) + (unit && unit !== "time" ? "\u202f" + unit : "");
  }

  function Chart(el) {
    this.el = el; this.body = el.querySelector(".ch-body"); this.plot = el.querySelector(".ch-plot");
    this.svg = el.querySelector("svg"); this.cross = el.querySelector(".ch-cross"); this.group = el.dataset.group;
    this.d = JSON.parse(el.querySelector(".ch-data").textContent);
    var s = this.d.s; s.forEach(function (q) { if (q.sx !== undefined) q.x = s[q.sx].x; });
    this.lo = 0; this.hi = 1; // visible part of the x axis
  }
  Chart.prototype.frac = function (x) {
    var a = this.d.x;
    return a.log ? Math.log(x / a.lo) / Math.log(a.hi / a.lo) : (x - a.lo) / (a.hi - a.lo);
  };
  Chart.prototype.value = function (f) {
    var a = this.d.x;
    return a.log ? a.lo * Math.pow(a.hi / a.lo, f) : a.lo + f * (a.hi - a.lo);
  };
  Chart.prototype.zoom = function (lo, hi) {
    var self = this, w = hi - lo;
    this.lo = lo; this.hi = hi;
    this.svg.setAttribute("viewBox", lo * 1000 + " 0 " + w * 1000 + " 1000");
    var place = function (f) { return (f - lo) / w; };
    this.el.querySelectorAll("[data-x]").forEach(function (l) {
      var f = place(self.frac(Number(l.dataset.x)));
      if (l.dataset.x2 !== undefined) {
        var g = place(self.frac(Number(l.dataset.x2))); f = Math.max(f, 0); g = Math.min(g, 1);
        l.style.width = Math.max(0, g - f) * 100 + "%"; l.hidden = g <= f;
      } else if (!l.closest(".ch-x")) { l.hidden = f < 0 || f > 1; }
      l.style.left = f * 100 + "%";
    });
    var axis = this.el.querySelector(".ch-x");
    if (axis) {
      if (!this.axis0) this.axis0 = axis.innerHTML;
      if (w > 0.999) { axis.innerHTML = this.axis0; return; }
      axis.textContent = "";
      for (var i = 0; i <= 5; i++) {
        var s = document.createElement("span"), v = this.value(lo + w * i / 5);
        s.style.left = i * 20 + "%"; s.textContent = this.d.x.unit === "time" ? clock(v) : unitOf(v, this.d.x.unit);
        axis.appendChild(s);
      }
    }
  };
  Chart.prototype.peers = function () { var g = this.group, me = this; return charts.filter(function (c) { return c === me || g && c.group === g; }); };
  Chart.prototype.nearest = function (q, x) {
    var best = -1, dist = Infinity;
    if (q.m === "dots") { // unsorted
      for (var i = 0; i < q.x.length; i++) { var e = Math.abs(q.x[i] - x); if (q.x[i] !== null && q.y[i] !== null && e < dist) { dist = e; best = i; } }
      return best;
    }
    var lo = 0, hi = q.x.length - 1;
    while (lo < hi) { var mid = (lo + hi) >> 1; if (q.x[mid] < x) lo = mid + 1; else hi = mid; }
    if (q.m === "bars") return Math.max(0, q.x[lo] > x ? lo - 1 : lo);
    return lo > 0 && x - q.x[lo - 1] < q.x[lo] - x ? lo - 1 : lo;
  };
  function row(color, name, text) {
    var p = document.createElement("div"), i = document.createElement("i"), s = document.createElement("span");
    p.className = "ch-c" + color; p.appendChild(i); s.textContent = name + "  "; p.appendChild(s);
    var b = document.createElement("b"); b.textContent = text; s.appendChild(b);
    return p;
  }
  Chart.prototype.show = function (f, quiet) {
    var x = this.value(f), self = this;
    this.at = f;
    this.peers().forEach(function (c) {
      var g = (f - c.lo) / (c.hi - c.lo);
      c.cross.hidden = g < 0 || g > 1; c.cross.style.left = g * 100 + "%";
    });
    if (quiet) return;
    tip.textContent = "";
    var head = document.createElement("b");
    head.textContent = this.d.x.unit === "time" ? clock(x) : unitOf(x, this.d.x.unit);
    tip.appendChild(head);
    this.d.s.forEach(function (q) {
      var i = self.nearest(q, x);
      if (i < 0 || q.y[i] === null) return;
      var v = q.y[i] * (self.d.y.f || 1);
      tip.appendChild(row(q.c, q.n, digits(v) + (self.d.y.unit ? "\u202f" + self.d.y.unit : "")));
    });
    (this.d.m || []).forEach(function (m) {
      if (Math.abs(self.frac(m.x) - f) < 0.012 * (self.hi - self.lo)) { var p = document.createElement("div"); p.textContent = m.t; tip.appendChild(p); }
    });
    tip.hidden = false;
    var r = this.plot.getBoundingClientRect(), px = r.left + (f - this.lo) / (this.hi - this.lo) * r.width;
    var w = tip.offsetWidth, left = px + 14 + w > innerWidth - 8 ? px - 14 - w : px + 14;
    tip.style.left = Math.max(8, left) + scrollX + "px"; tip.style.top = r.top + 8 + scrollY + "px";
  };
  Chart.prototype.hide = function () { tip.hidden = true; this.peers().forEach(function (c) { c.cross.hidden = true; }); };
  Chart.prototype.wire = function () {
    var self = this, from = null, sel = null;
    var at = function (ev) { var r = self.plot.getBoundingClientRect(); return self.lo + Math.max(0, Math.min(1, (ev.clientX - r.left) / r.width)) * (self.hi - self.lo); };
    this.plot.addEventListener("pointermove", function (ev) {
      var f = at(ev);
      self.show(f);
      if (from !== null && sel) {
        var a = (Math.min(from, f) - self.lo) / (self.hi - self.lo), b = (Math.max(from, f) - self.lo) / (self.hi - self.lo);
        sel.style.left = a * 100 + "%"; sel.style.width = (b - a) * 100 + "%";
      }
    });
    this.plot.addEventListener("pointerleave", function () { if (from === null) self.hide(); });
    this.plot.addEventListener("pointerdown", function (ev) {
      if (ev.pointerType === "touch" || ev.button !== 0) return;
      from = at(ev); sel = document.createElement("div"); sel.className = "ch-sel"; self.plot.appendChild(sel);
      self.plot.setPointerCapture(ev.pointerId);
    });
    var end = function (ev) {
      if (from === null) return;
      var to = at(ev), lo = Math.min(from, to), hi = Math.max(from, to);
      from = null; sel.remove();
      if (hi - lo > 0.01 * (self.hi - self.lo)) self.peers().forEach(function (c) { c.zoom(lo, hi); });
    };
    this.plot.addEventListener("pointerup", end);
    this.plot.addEventListener("pointercancel", end);
    this.plot.addEventListener("dblclick", function () { self.peers().forEach(function (c) { c.zoom(0, 1); }); });
    this.body.addEventListener("keydown", function (ev) {
      var w = self.hi - self.lo, f = self.at === undefined ? self.lo + w / 2 : self.at, step = w / (ev.shiftKey ? 10 : 60);
      if (ev.key === "ArrowRight") f += step; else if (ev.key === "ArrowLeft") f -= step;
      else if (ev.key === "Home") f = self.lo; else if (ev.key === "End") f = self.hi;
      else if (ev.key === "+" || ev.key === "-") {
        var k = ev.key === "+" ? 0.25 : 1, lo = Math.max(0, f - w * k), hi = Math.min(1, f + w * k);
        self.peers().forEach(function (c) { c.zoom(lo, hi); }); ev.preventDefault(); return;
      } else if (ev.key === "Escape") { self.peers().forEach(function (c) { c.zoom(0, 1); }); self.hide(); return; } else return;
      ev.preventDefault(); self.show(Math.max(self.lo, Math.min(self.hi, f)));
    });
    this.body.addEventListener("blur", function () { self.hide(); });
  };
  document.querySelectorAll(".ch").forEach(function (el) {
    if (!el.querySelector(".ch-data")) return;
    var c = new Chart(el); charts.push(c); c.wire();
  });
})();
